"""Every key that a suite may use, by where it stands; ``docs/conformance.md`` explains each."""

from __future__ import annotations

SUITE = ("code_language", "cases")
CASE = ("rule", "name", "description", "setup", "action", "expect")

SETUP = ("llm", "circle", "identity", "folding", "retry", "filesystem", "registry", "secrets")
"""Beside further models: ``child_llm``, ``child_llm_lN`` and those that an action names."""
MODEL = (
    "responses",
    "raw_response",
    "usage",
    "name",
    "type",
    "provider",
    "record_inputs",
    "stateless",
    "retry_behavior",
)
CIRCLE = ("medium", "type", "circle_type", "gates", "wards")
DESCRIBED = ("behavior", "delay_ms", "result", "error", "stateful")
"""What a gate does, where the case describes it."""
GATE = ("name", "parameters", "ephemeral", "dependencies", *DESCRIBED)

ACTION = ("construct_cantrip", "cast", "summon", "acp_exchange", "then")
CAST = ("intent", "llm", "context")
SUMMON = ("intents", "llm")
THEN = (
    "mutate_identity",
    "fork",
    "extract_thread",
    "annotate_reward",
    "delete_turn",
    "export_loom",
)
FORK = ("from_turn", "intent", "llm", "context")
REWARD = ("turn", "reward")
EXPORT = ("format", "redaction")

OBSERVATION = ("is_error", "content", "content_contains", "content_excludes", "max_chars")
USAGE = ("prompt_tokens", "completion_tokens", "cached_tokens", "total_tokens")
QUERY = (
    "messages",
    "message_count",
    "message_count_below",
    "first_message",
    "last_message",
    "messages_include",
    "messages_exclude",
    "message_count_includes",
    "message_count_excludes",
)
MESSAGE = ("role", "content", "content_contains")
TOOL = ("name", "parameters", "description_contains")
LOOM = ("turn_count", "utterance_count", "entity_count", "identity", "turns", "folds")
TURN = (
    "id",
    "parent_id",
    "entity_id",
    "role",
    "sequence",
    "turn",
    "part",
    "gate_calls",
    "utterance",
    "observation",
    "observation_contains",
    "terminated",
    "truncated",
    "reason",
    "reward",
    "metadata",
)
METADATA = ("tokens_prompt", "tokens_completion", "tokens_cached", "duration_ms", "timestamp")
HALF_TURN = ("role",)
THREAD = ("length", "turns", "result")
NUMBERED_THREAD = ("turns", "result", "last_turn")
FORKED_FROM = ("strategy", "node")
RESPONSE = ("id", "has_result", "result_contains", "error_contains", "stop_reason")
