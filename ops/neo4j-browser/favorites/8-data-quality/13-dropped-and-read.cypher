// Datasets that were dropped, and jobs that read them all the same
// No rows is good news.
MATCH (dataset:HwDataset)<-[reads:READS]-(job:HwJob)
WHERE dataset.dropped AND (reads.declared OR reads.last_seen >= dataset.dropped_at)
RETURN dataset.title AS dataset, dataset.dropped_at AS dropped, job.name AS job, reads.last_seen AS last_read,
       job.owners AS owners
ORDER BY dropped DESC, job
LIMIT 300
