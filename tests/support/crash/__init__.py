"""Killing a Spark driver at random moments, and comparing what was told with its checkpoints.

job      the driver: three streaming queries, captured, whose events go to a file now and then
driver   a driver's process group: started, waited for, killed
truth    what the checkpoints say, read without capture's own code
check    what was told, folded as the materializer does it, against that
sweep    kills, one after the other, from a seed
"""
