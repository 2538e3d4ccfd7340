"""Names that are markup: they must be shown, never run."""

from __future__ import annotations

EVIL = "<img src=x onerror=boom()>&\"'"
EVIL_TYPES = (f"Find{EVIL}", "Dr\u202eug<script>boom()</script>")
