"""Safety: facts in, verdict out. Nothing here touches a database, a network or a clock."""
