"""The two parts of a tool's name: `directory.unlock_user` is `unlock_user` of the connector `directory`."""


def short_name(tool: str) -> str:
    return tool.rpartition(".")[2]


def connector_of(tool: str) -> str:
    return tool.rpartition(".")[0]
