"""One file per command; `headwater.command_list.COMMANDS` lists them."""
