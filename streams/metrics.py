"""What a stage counts. Names follow Prometheus' rules (base units, `_total`); labels are bounded:
stage, topic, partition, outcome, reason, type, policy. Never a tenant, user, scope or message.
"""

from prometheus_client import Counter, Gauge, Histogram

RECORDS = Counter("memweir_records_total", "Records a stage is done with.", ["stage", "outcome"])
DEAD_LETTERS = Counter("memweir_dead_letters_total", "Records sent to the dead-letter topic.", ["stage", "error"])
FILTERED = Counter("memweir_messages_filtered_total", "Messages accounted for without being kept.", ["reason"])
WINDOWS = Counter("memweir_windows_closed_total", "Windows closed.", ["reason"])
OPEN_WINDOWS = Gauge("memweir_open_windows", "Windows that are open now.", ["partition"])
CANDIDATES = Counter("memweir_candidates_total", "Memories extracted.", ["strategy", "type"])
DROPPED = Counter("memweir_candidates_dropped_total", "Invalid parts of answers, left out.", ["strategy", "reason"])
DECISIONS = Counter("memweir_decisions_total", "Decisions on candidates.", ["policy", "action"])
SINK_ROWS = Counter("memweir_sink_rows_total", "Rows upserted into LanceDB.")
SINK_BATCH_ROWS = Histogram("memweir_sink_batch_rows", "Rows an upsert.", buckets=(1, 3, 10, 30, 100, 300, 1000, 3000))
WORK_SECONDS = Histogram(
    "memweir_stage_duration_seconds",
    "Time from a batch's (or, where a model is called, a window's) start to its acknowledgement.",
    ["stage"],
    buckets=(0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100),
)
END_TO_END_SECONDS = Histogram(
    "memweir_end_to_end_seconds",
    "Time from the append of a window's last message to its readable rows.",
    buckets=(0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000),
)
IN_FLIGHT = Gauge("memweir_in_flight", "Records being worked on now.", ["stage"])
LAG = Gauge(
    "memweir_consumer_lag_records",
    "Records of the input that are not done yet; -1 where the partition is not ours.",
    ["stage", "partition"],
)
STRIPPED = Counter("memweir_noise_stripped_total", "Pieces of noise cut out of messages that were kept.", ["reason"])
MODEL_CALLS = Counter("memweir_model_calls_total", "Questions put to a model.", ["prompt", "outcome"])
MODEL_TOKENS = Counter("memweir_model_tokens_total", "Tokens as the server counts them.", ["prompt", "direction"])
MODEL_SECONDS = Histogram(
    "memweir_model_call_duration_seconds",
    "Time of a question, retries included.",
    ["prompt"],
    buckets=(0.1, 0.3, 1, 3, 10, 30, 100, 300),
)
MODEL_WAITS = Counter("memweir_model_outage_waits_total", "Waits for a model that did not answer.", ["stage"])
SINK_WAITS = Counter("memweir_sink_waits_total", "Waits for a LanceDB that could not be written.")
