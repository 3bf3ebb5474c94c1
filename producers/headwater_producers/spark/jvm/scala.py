"""Values of Scala through py4j. Each call here is a round trip of about a tenth of a millisecond."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from py4j.java_gateway import JavaClass

# Keys of a reference's cached class and answers: attributes of py4j's object in Python.
_CLASS_NAME: Final = "_headwater_class_name"
_ANSWERS: Final = "_headwater_answers"


def class_name(value: Any) -> str:
    """Return the simple name of the value's class, without Scala's suffix: `NoopTable$` is `NoopTable`.

    An anonymous class has its superclass's name: Delta's relations are `HadoopFsRelation`. Takes two round trips,
    or none if the reference was asked before.
    """
    kept: dict[str, Any] = getattr(value, "__dict__", {})
    if (known := kept.get(_CLASS_NAME)) is not None:
        return str(known)
    cls = value.getClass()
    while (name := str(cls.getName()).rsplit(".", 1)[-1].rstrip("$").rsplit("$", 1)[-1]).isdecimal():
        cls = cls.getSuperclass()
    kept[_CLASS_NAME] = name
    return name


def kept(value: Any, accessor: str) -> Any:
    """Call an accessor without arguments and cache its answer on the reference. One round trip, then none."""
    answers: dict[str, Any] = getattr(value, "__dict__", {}).setdefault(_ANSWERS, {})
    if accessor not in answers:
        answers[accessor] = getattr(value, accessor)()
    return answers[accessor]


def statics(session: Any, name: str) -> Any:
    """Return a JVM class by its full name, for its static methods.

    `session._jvm.…` would make a round trip for each part of the name.
    """
    return JavaClass(name, session.sparkContext._gateway._gateway_client)


def items(sequence: Any) -> Iterator[Any]:
    """Yield the elements of a Scala `Seq`."""
    for index in range(sequence.size()):
        yield sequence.apply(index)


def pairs(mapping: Any) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a Scala `Map` with text for keys, in the map's order."""
    entries = mapping.iterator()
    while entries.hasNext():
        entry = entries.next()
        yield str(entry._1()), entry._2()


def option(value: Any) -> Any:
    """Return the value of an `Option`, None for `None`."""
    return value.get() if value.isDefined() else None


def private(value: Any, name: str) -> Any:
    """Read a field without an accessor: a constructor's argument that Scala keeps for methods.

    Raises:
        AttributeError: no class of the value has the field.
    """
    cls = value.getClass()
    while cls is not None:
        for field in cls.getDeclaredFields():
            # Scala may prefix the field's name: org$apache$spark$…$$name.
            if str(field.getName()).rsplit("$", 1)[-1] == name:
                field.setAccessible(True)
                return field.get(value)
        cls = cls.getSuperclass()
    raise AttributeError(name)


def setting(options: Any, key: str) -> str | None:
    """Return an option of a Scala map or a `CaseInsensitiveStringMap` by key; None if it isn't set.

    Spark's own maps of options ignore case; in a plain map the key is looked up as written and in lower case.
    """
    if hasattr(options, "asCaseSensitiveMap") and class_name(options) == "CaseInsensitiveStringMap":
        value = options.get(key)
        return None if value is None else str(value)
    for spelling in dict.fromkeys((key, key.lower())):
        found = option(options.get(spelling))
        if found is not None:
            return str(found)
    return None


def instant(millis: int) -> datetime:
    """Convert a JVM time in milliseconds since the epoch."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)
