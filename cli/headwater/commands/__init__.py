"""One file per command; `headwater.cli.COMMANDS` is the list of them."""
