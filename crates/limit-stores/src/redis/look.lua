-- Returns all that is stored of the limits of one agent, or resets it. The server runs this in one step.
--
-- KEYS  as of `decide.lua`
-- ARGV  1: what is reset: nothing, `budget`, `breaker` or `all`
--
-- Answers with the time; the core as numbers; calls in flight, each as number, tokens, cost, execution and end of the lease;
-- executions, each as name and six numbers; and the parts of the two windows, oldest first. A number is its text, because an answer
-- of Lua has no fractions. Where nothing is stored, there is only the time.

if redis.replicate_commands then redis.replicate_commands() end

local CORE, HOLDS, DUE, RESERVED, EXECUTIONS, IDLE, HOUR, DAY, OLD = unpack(KEYS)
local MAX_EXACT, LAYOUT, FIELDS = 9007199254740992, 1, 27
local FORMAT = '<' .. string.rep('d', FIELDS)
-- Where a field is in the core; see `FIELDS` of `decide.lua`.
local AT = { holds = 4, reserved = 5, totals = 7, phase = 11, since = 12, failures = 13, generation = 14, never = 16, newest = 20 }

local function text(number) return string.format('%.0f', number) end
local function texts(packed, format, count)
    local numbers, all = { struct.unpack(format, packed) }, {}
    for at = 1, count do all[at] = text(numbers[at]) end
    return all
end

local time = redis.call('TIME')
local now = text(math.ceil(tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000))
local stored = redis.call('GET', CORE)
if not stored then
    if redis.call('TYPE', OLD).ok == 'hash' then return 'old' end
    return { now }
end
if struct.unpack('<d', stored) ~= LAYOUT then return 'newer' end

local function reset(what)
    local core = { struct.unpack(FORMAT, stored) }
    core[FIELDS + 1] = nil
    if what ~= 'breaker' then
        redis.call('DEL', HOLDS, DUE, RESERVED, EXECUTIONS, IDLE, HOUR, DAY)
        for at = AT.holds, AT.totals + 3 do core[at] = 0 end
        for at = AT.never, AT.never + 3 do core[at] = MAX_EXACT end
        for at = AT.newest, FIELDS do core[at] = 0 end
        -- Tokens of -1: there is no newest part.
        core[AT.newest + 2], core[AT.newest + 6] = -1, -1
    end
    if what ~= 'budget' then
        core[AT.phase], core[AT.since], core[AT.failures] = 0, 0, 0
        core[AT.generation] = core[AT.generation] + 1
    end
    redis.call('SET', CORE, struct.pack(FORMAT, unpack(core)))
end

if ARGV[1] ~= '' then
    reset(ARGV[1])
    return { now }
end

local holds = {}
local found = redis.call('HGETALL', HOLDS)
for at = 1, #found, 2 do
    local tokens, cost, after = struct.unpack('<dd', found[at + 1])
    local ends = redis.call('ZSCORE', DUE, found[at]) or '0'
    holds[#holds + 1] = { found[at], text(tokens), text(cost), string.sub(found[at + 1], after), text(tonumber(ends)) }
end
local executions = {}
found = redis.call('HGETALL', EXECUTIONS)
for at = 1, #found, 2 do executions[#executions + 1] = { found[at], texts(found[at + 1], '<dddddd', 6) } end
local function window(key)
    local parts = redis.call('LRANGE', key, 0, -1)
    for at, part in ipairs(parts) do parts[at] = texts(part, '<dddd', 4) end
    return parts
end
return { now, texts(stored, FORMAT, FIELDS), holds, executions, window(HOUR), window(DAY) }
