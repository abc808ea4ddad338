"""Stand-ins for where documents come from: a small website, Confluence and Notion, each over a real socket."""
