"""How much a pipeline wants its lineage to matter: `emission_policy`.

policy    the four policies
fence     fail_closed, foreachBatch: holds a micro-batch back until the one before is durable
overrun   fail_closed, other sinks: stops a query whose intervals don't become durable
emission  one application's policy at work, and its verdict at the end
"""

from headwater_producers.spark.emission.emission import Emission
from headwater_producers.spark.emission.policy import EmissionPolicy

__all__ = ["Emission", "EmissionPolicy"]
