// What else is known of a run
MATCH (r:HwRun {key: $given.run})
RETURN r {.nominal_start, .nominal_end, .engine, .engine_version, .capture_version, .error_stack, .publication,
    .checkpoint_location, .script, .repository, .branch, .package, .image, .user, .service, .campaign, .statement,
    .rows_rejected, .provenance, .first_seen, .last_seen, .parent_run_id, .parent_job_namespace, .parent_job_name,
    .root_run_id, .root_job_namespace, .root_job_name, .facet_names, .facets, .quality_assertions, .quality_passed,
    .quality_columns, .quality_values, .quality_namespaces, .quality_datasets, .quality_rules, .quality_severities,
    .quality_suites, .quality_suite_versions} AS details,
  COUNT { (r)<-[:CHILD_OF]-() } AS children, COUNT { (r)<-[:IN_RUN]-() } AS reports
