"""The JSON Schema of scenario files, from the same types that read them."""

from typing import Any

from tailrace.scenario.scenario import Scenario

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) that editors use to complete and check."""
    schema = Scenario.model_json_schema(mode="validation")
    return {"$schema": SCHEMA_ID, **schema, "title": "tailrace scenario"}
