"""Conversion between OpenLineage's documents and Headwater's events. Pure: no Kafka, no HTTP, no clock.

    bytes ── decoding.decode ──▶ document ── incoming.events_of ──▶ events
    documents ◀── outgoing.documents_of ── event

Both directions are lossless: events of a document give the same document again (`origin`), and a document of one of
Headwater's own events gives the same event again (`native`).
"""
