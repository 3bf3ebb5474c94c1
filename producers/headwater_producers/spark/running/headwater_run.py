"""Entry point for `spark-submit`: captures the script named by the first argument. See docs/running.md.

It may be copied anywhere: all it needs is that `headwater` can be imported by the driver.
"""

from headwater_producers.spark.running.__main__ import main

if __name__ == "__main__":
    main()
