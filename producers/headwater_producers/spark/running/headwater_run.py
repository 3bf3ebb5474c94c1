"""Entry point for `spark-submit`: captures the script named by the first argument. See docs/running.md.

The file may be copied anywhere, if the driver can import `headwater`.
"""

from headwater_producers.spark.running.__main__ import main

if __name__ == "__main__":
    main()
