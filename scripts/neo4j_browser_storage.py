"""What Neo4j Browser finds in its local storage: settings, and how nodes and relationships look."""

from __future__ import annotations

# Label: fill and border, dark enough for a white caption. A label that is not here keeps the Browser's grey.
DATASET = ("#2F6FC4", "#24569A")
COLORS = {
    "Dataset": DATASET,
    "Column": ("#2E8B82", "#236B64"),
    "Job": ("#D2691E", "#A75318"),
    "Run": ("#7A57B8", "#5F4391"),
    "Query": ("#B2456E", "#8C3656"),
    "Interval": ("#55802B", "#426421"),
    "Plan": ("#86703F", "#695831"),
}

NODE = {
    "diameter": "118px",
    "color": "#7D8590",
    "border-color": "#616870",
    "border-width": "2px",
    "text-color-internal": "#FFFFFF",
    "font-size": "13px",
    "caption": "{name}",
}
RELATIONSHIP = {
    "color": "#8A93A0",
    "shaft-width": "2px",
    "font-size": "12px",
    "padding": "3px",
    "text-color-external": "#30363D",
    "text-color-internal": "#FFFFFF",
    "caption": "<type>",
}

# What the Browser keeps in local storage: open on an empty page, send no reports, draw only what the query returned.
LOCAL_STORAGE = {
    "settings": {
        "theme": "light",
        "initCmd": "",
        "playImplicitInitCommands": False,
        "allowCrashReports": False,
        "allowUserStats": False,
        "showWheelZoomInfo": False,
        "autoComplete": False,
    },
    "udc": {"consentBannerShownCount": 1_000},
    "grass": {
        "node": NODE,
        "relationship": RELATIONSHIP,
        **{f"node.{label}": NODE | {"color": fill, "border-color": edge} for label, (fill, edge) in COLORS.items()},
        # A dataset's name may be a path.
        "node.Dataset": NODE | {"color": DATASET[0], "border-color": DATASET[1], "caption": "{title}"},
        # By which job data flows, and what becomes of a column.
        "relationship.FEEDS": RELATIONSHIP | {"caption": "{job_name}"},
        "relationship.DERIVES": RELATIONSHIP | {"caption": "{kind}"},
    },
}
