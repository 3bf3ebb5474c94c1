"""OpenLineage's documents ⇄ Headwater's events. Pure: no Kafka, no HTTP, no clock.

    bytes ── decoding.decode ──▶ document ── incoming.events_of ──▶ events
    documents ◀── outgoing.documents_of ── event

Both directions lose nothing: an event that came from a document gives that document again, and a document that was made
of an event of Headwater's own gives that event again (`origin`, `native`).
"""
