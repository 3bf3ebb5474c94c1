"""Choosing ports."""

from __future__ import annotations

import socket

from headwater.stack import ports


def test_a_wanted_port_is_taken_when_free_and_replaced_when_not() -> None:
    free = ports.choose(ports.ANY)
    with socket.create_server(("", free.kafka)):  # on all interfaces
        chosen = ports.choose(free)
    assert chosen.kafka != free.kafka
    assert (chosen.controller, chosen.bolt, chosen.http) == (free.controller, free.bolt, free.http)


def test_no_port_is_given_twice() -> None:
    wanted = ports.choose(ports.ANY).kafka
    chosen = ports.choose(ports.Ports(kafka=wanted, controller=wanted, bolt=wanted, http=wanted))
    assert len({chosen.kafka, chosen.controller, chosen.bolt, chosen.http}) == 4
