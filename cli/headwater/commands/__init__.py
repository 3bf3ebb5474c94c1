"""One file per command; `headwater.command_list.COMMANDS` is the list of them."""
