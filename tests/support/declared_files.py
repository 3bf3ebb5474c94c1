"""A file of declarations that has every field of each kind."""

from __future__ import annotations

EVERY_FIELD = """\
set: flights
namespace: kafka://broker:9092
datasets:
  - name: flights.enriched
    description: Flights with their airline and plane
    owners: [team:flights, {name: jo, type: STEWARD}]
    tags: {domain: travel, reviewed: }
    glossary: [flight]
    classification: operations
    sensitivity: INTERNAL
    criticality: tier-1
    certified: true
    freshness: 15m
    deadline: 06:00 Europe/Berlin
    notice: 2w
    on_call: "#flights-on-call"
    contact: flights@example.com
    url: https://wiki.example/flights
    keep: 400d
    columns:
      value.tailnum: {sensitivity: PII, tags: {mask: hash}}
      value.origin: {smallest_group: 20, type: "varchar(3)"}
      value.plane:
        approval: {covers: PII, sensitivity: INTERNAL, by: jo@example.com, reason: Public anyway, until: "2027-06-30"}
    marks: [critical, {mark: legal-hold, version: "7", spread: UPSTREAM, reason: Case 11}]
  - {name: airlines.csv, namespace: file, reference: true}
jobs:
  - name: delay sheet
    namespace: office
    inputs: [flights.enriched]
    outputs: [{namespace: office, name: delays.xlsx}]
    columns:
      - dataset: {namespace: office, name: delays.xlsx}
        column: mean
        inputs:
          - {dataset: flights.enriched, column: value.dep_delay, kind: AGGREGATE, expression: mean}
          - {dataset: flights.enriched, column: value.origin, kind: FILTER_DEPENDENCY}
    partitions:
      - input: flights.enriched
        input_field: day
        output: {namespace: office, name: delays.xlsx}
        output_field: month
        transform: month
consumers:
  - name: delay board
    type: DASHBOARD
    reads: [flights.enriched, {dataset: flights.routes, columns: [origin]}]
"""
