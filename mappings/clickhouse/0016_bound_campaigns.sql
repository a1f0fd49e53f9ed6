-- An insert that names a moment, in milliseconds, is refused when it is met later: what it holds may be another writer's by then.
ALTER TABLE campaigns{{local}} {{on_cluster}} ADD CONSTRAINT IF NOT EXISTS in_time CHECK NOT throwIf(
    ifNull(toUnixTimestamp64Milli(now64(3)) >= toInt64OrNull(extract(getSetting('log_comment'), ' before (\\d+)$')), false),
    'the insert came too late'
)
