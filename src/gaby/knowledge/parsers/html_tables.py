"""A table of a page while it is read, and as Markdown."""


class HtmlTable:
    def __init__(self) -> None:
        self.after: list[str] = []
        """Blocks of code that stood in its cells. A cell is one line, so they follow the table."""
        self._rows: list[list[list[str]]] = []

    def row(self) -> None:
        self._rows.append([])

    def cell(self) -> None:
        if not self._rows:
            self.row()
        self._rows[-1].append([])

    def words(self, words: str) -> None:
        if not self._rows or not self._rows[-1]:
            self.cell()
        self._rows[-1][-1].append(words)

    def blocks(self) -> list[str]:
        rows = [[" ".join(cell).replace("|", "\\|") for cell in row] for row in self._rows]
        rows = [row for row in rows if any(row)]
        columns = max(map(len, rows), default=0)
        if columns < 2:
            # A table of one column is there for the looks.
            return [cell.replace("\\|", "|") for row in rows for cell in row] + self.after
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        lines.insert(1, "|" + " --- |" * len(rows[0]))
        return ["\n".join(lines), *self.after]
