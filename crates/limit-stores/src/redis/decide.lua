-- Decides on one operation on the limits of one agent, and stores what it changes. The server runs this in one step.
--
-- It does what `LimitOperation::run` of the crate `stockade-limits` does; a test compares the two on random operations. Times are
-- whole milliseconds. Amounts are at most 2^53, up to which numbers of Lua are exact; a larger one is taken for that.
--
-- KEYS  core: totals, clocks, the newest part of each window and the circuit breaker
--       holds: calls in flight by number, as tokens, cost and execution; due: the same by the end of their lease
--       reserved: what is reserved by execution, as calls, tokens and cost
--       executions: by name, as tokens, cost, calls, warned, steps and touched; idle: the same by when they were touched
--       hour, day: the other parts of a window, oldest first, as first, last, tokens and cost
--       old: where earlier versions kept the whole state
--       mark: tells a server that was emptied from a new one
-- ARGV  see `Question` of the crate `stockade-limits`, and the mark that is expected, empty for any

-- Servers before version 5 write nothing after they were asked for the time, unless they replicate effects.
if redis.replicate_commands then redis.replicate_commands() end

local CORE, HOLDS, DUE, RESERVED, EXECUTIONS, IDLE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local function window(key, name, length)
    return { key = key, length = length, tokens = name .. 'Tokens', cost = name .. 'Cost', newest = name .. 'Newest',
        oldest = name .. 'Oldest' }
end
local HOUR, DAY = window(KEYS[7], 'hour', 3600000), window(KEYS[8], 'day', 86400000)
local OLD, MARK = KEYS[9], KEYS[10]
local MAX_EXACT = 9007199254740992
-- Into how many parts a window is divided at most.
local PARTS = 1024
-- Calls before the average says anything, and how near a cap must be for a warning.
local FEWEST_CALLS, NEAR = 3, 2

local operation, execution = ARGV[1], ARGV[2]
-- The caps of an execution, an hour and a day, of tokens and cost; none where the text is empty.
local CAPS = {
    { tonumber(ARGV[4]), tonumber(ARGV[5]) },
    { tonumber(ARGV[6]), tonumber(ARGV[7]) },
    { tonumber(ARGV[8]), tonumber(ARGV[9]) },
}
local WINDOW_OF = { false, HOUR, DAY }
local LEASE, THRESHOLD, COOLDOWN = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
local PROBE_TIMEOUT, MAX_STEPS = tonumber(ARGV[13]), tonumber(ARGV[14])
local MAX_IN_FLIGHT, MAX_EXECUTIONS = tonumber(ARGV[15]), tonumber(ARGV[16])

local function text(number) return string.format('%.0f', number) end
local function plus(a, b) return math.min(a + b, MAX_EXACT) end
local function minus(a, b) return math.max(a - b, 0) end

-- Numbers are stored as doubles, which are packed and unpacked faster than text.
local THREE, FOUR, SIX = '<ddd', '<dddd', '<dddddd'
local function numbers(format, stored) return { struct.unpack(format, stored) } end

-- Core ------------------------------------------------------------------------------------------------------------

-- Of the newest part of a window: first, last, tokens and cost; tokens of -1 where there is none.
local NEWEST = { 'First', 'Last', 'Tokens', 'Cost' }
local FIELDS = {
    'layout', 'clock', 'nextHold', 'holds', 'reservedTokens', 'reservedCost', 'hourTokens', 'hourCost', 'dayTokens', 'dayCost',
    'phase', 'since', 'failures', 'generation', 'breakerClock',
    -- No lease ends, no execution is idle and no part of a window ended before these times.
    'nextDue', 'nextIdle', 'hourOldest', 'dayOldest',
    'hourNewestFirst', 'hourNewestLast', 'hourNewestTokens', 'hourNewestCost',
    'dayNewestFirst', 'dayNewestLast', 'dayNewestTokens', 'dayNewestCost',
}
local LAYOUT, CORE_FORMAT = 1, '<' .. string.rep('d', #FIELDS)
local CLOSED, OPEN, HALF_OPEN, PROBING = 0, 1, 2, 3
local core = {}

-- Reads the core, or begins with nothing. Returns what is in the way of that.
local function load_core()
    local stored = redis.call('GET', CORE)
    if stored then
        if struct.unpack('<d', stored) ~= LAYOUT then return 'newer' end
        for at, number in ipairs(numbers(CORE_FORMAT, stored)) do
            if FIELDS[at] then core[FIELDS[at]] = number end
        end
        return nil
    end
    for _, field in ipairs(FIELDS) do core[field] = 0 end
    core.layout, core.hourNewestTokens, core.dayNewestTokens = LAYOUT, -1, -1
    core.nextDue, core.nextIdle, core.hourOldest, core.dayOldest = MAX_EXACT, MAX_EXACT, MAX_EXACT, MAX_EXACT
    if redis.call('TYPE', OLD).ok == 'hash' then return 'old' end
    -- An earlier version that still runs fails here; it would begin anew otherwise.
    redis.call('SET', OLD, 'moved')
    return nil
end

local function store_core()
    local words = {}
    for at, field in ipairs(FIELDS) do words[at] = core[field] end
    redis.call('SET', CORE, struct.pack(CORE_FORMAT, unpack(words)))
end

-- Rows ------------------------------------------------------------------------------------------------------------

-- What was read, and what of it is to be written.
local rows, changed, reservations, reserving = {}, {}, {}, {}

-- Returns the row of an execution, or false.
local function row_of(name)
    if rows[name] == nil then
        local stored = redis.call('HGET', EXECUTIONS, name)
        rows[name] = false
        if stored then
            local n = numbers(SIX, stored)
            rows[name] =
                { tokens = n[1], cost = n[2], calls = n[3], warned = n[4], steps = n[5], touched = n[6] }
        end
    end
    return rows[name]
end

local function touch(name, at)
    local row = row_of(name) or { tokens = 0, cost = 0, calls = 0, warned = 0, steps = 0, touched = 0 }
    if at > row.touched then row.touched, row.is_moved = at, true end
    core.nextIdle = math.min(core.nextIdle, row.touched)
    rows[name], changed[name] = row, true
    return row
end

local function store_rows()
    for name in pairs(changed) do
        local row = rows[name]
        local packed = struct.pack(SIX, row.tokens, row.cost, row.calls, row.warned, row.steps, row.touched)
        redis.call('HSET', EXECUTIONS, name, packed)
        if row.is_moved then redis.call('ZADD', IDLE, text(row.touched), name) end
        row.is_moved = nil
    end
    for name in pairs(reserving) do
        local r = reservations[name]
        if r.calls <= 0 then
            redis.call('HDEL', RESERVED, name)
        else
            redis.call('HSET', RESERVED, name, struct.pack(THREE, r.calls, r.tokens, r.cost))
        end
    end
    changed, reserving = {}, {}
end

local function end_execution(name)
    redis.call('HDEL', EXECUTIONS, name)
    redis.call('ZREM', IDLE, name)
    rows[name], changed[name] = nil, nil
end

local function reserved_by(name)
    if not reservations[name] then
        local stored = core.holds > 0 and redis.call('HGET', RESERVED, name)
        local n = stored and numbers(THREE, stored) or { 0, 0, 0 }
        reservations[name] = { calls = n[1], tokens = n[2], cost = n[3] }
    end
    return reservations[name]
end

-- Adds a call in flight to what is reserved, or takes one away.
local function reserve(name, calls, tokens, cost)
    local reserved = reserved_by(name)
    reserving[name] = true
    reserved.calls, core.holds = reserved.calls + calls, core.holds + calls
    reserved.tokens, reserved.cost = minus(reserved.tokens, -tokens), minus(reserved.cost, -cost)
    core.reservedTokens, core.reservedCost = minus(core.reservedTokens, -tokens), minus(core.reservedCost, -cost)
end

local function insert_hold(id, name, tokens, cost, ends)
    redis.call('HSET', HOLDS, id, struct.pack('<dd', tokens, cost) .. name)
    redis.call('ZADD', DUE, text(ends), id)
    core.nextDue = math.min(core.nextDue, ends)
    reserve(name, 1, tokens, cost)
end

-- Returns what was reserved for a call, or nothing.
local function remove_hold(id)
    local stored = redis.call('HGET', HOLDS, id)
    if not stored then return nil end
    local tokens, cost, after = struct.unpack('<dd', stored)
    local name = string.sub(stored, after)
    redis.call('HDEL', HOLDS, id)
    redis.call('ZREM', DUE, id)
    reserve(name, -1, -tokens, -cost)
    return { name = name, tokens = tokens, cost = cost }
end

-- Returns the newest part of a window, or nothing.
local function newest_of(window)
    if core[window.newest .. 'Tokens'] < 0 then return nil end
    local part = {}
    for at, field in ipairs(NEWEST) do part[at] = core[window.newest .. field] end
    return part
end

local function set_newest(window, part)
    for at, field in ipairs(NEWEST) do core[window.newest .. field] = part[at] end
end

local function record(window, now, tokens, cost)
    core[window.tokens], core[window.cost] = core[window.tokens] + tokens, core[window.cost] + cost
    local part = newest_of(window)
    if part and minus(now, part[1]) < window.length / PARTS then
        set_newest(window, { part[1], math.max(part[2], now), part[3] + tokens, part[4] + cost })
        return
    end
    if part then
        core[window.oldest] = math.min(core[window.oldest], part[2])
        redis.call('RPUSH', window.key, struct.pack(FOUR, unpack(part)))
    end
    set_newest(window, { now, now, tokens, cost })
end

local function forget(window, part)
    core[window.tokens], core[window.cost] = minus(core[window.tokens], part[3]), minus(core[window.cost], part[4])
end

local function drop_before(window, start)
    while core[window.oldest] < start do
        forget(window, numbers(FOUR, redis.call('LPOP', window.key)))
        local oldest = redis.call('LINDEX', window.key, 0)
        core[window.oldest] = oldest and numbers(FOUR, oldest)[2] or MAX_EXACT
    end
    local part = newest_of(window)
    if part and part[2] < start then
        forget(window, part)
        set_newest(window, { 0, 0, -1, 0 })
    end
end

-- Budget ----------------------------------------------------------------------------------------------------------

-- Returns what is used and what is reserved in a scope, each as tokens and cost.
local function counted(scope, name)
    local window = WINDOW_OF[scope]
    if window then
        return { core[window.tokens], core[window.cost] }, { core.reservedTokens, core.reservedCost }
    end
    local row, reserved = row_of(name), reserved_by(name)
    return row and { row.tokens, row.cost } or { 0, 0 }, { reserved.tokens, reserved.cost }
end

-- Returns which cap an execution is about to reach, and how many calls of average size fit, if those are few.
local function trajectory(name, row)
    if row.calls < FEWEST_CALLS then return nil end
    local spent, nearest = { row.tokens, row.cost }, nil
    for scope = 1, 3 do
        local used, reserved = counted(scope, name)
        for measure = 1, 2 do
            local cap = CAPS[scope][measure]
            if cap and spent[measure] > 0 then
                local remaining = minus(cap, plus(used[measure], reserved[measure])) * row.calls
                for left = 0, NEAR do
                    if remaining < (left + 1) * spent[measure] then
                        if not nearest or left < nearest[3] then nearest = { scope, measure, left } end
                        break
                    end
                end
            end
        end
    end
    return nearest
end

local function charge(now, name, tokens, cost)
    if tokens > 0 or cost > 0 then
        record(HOUR, now, tokens, cost)
        record(DAY, now, tokens, cost)
    end
    local row = touch(name, now)
    row.tokens, row.cost, row.calls = plus(row.tokens, tokens), plus(row.cost, cost), row.calls + 1
    if row.warned == 1 then return nil end
    local warning = trajectory(name, row)
    if warning then row.warned = 1 end
    return warning
end

-- Returns the lowest score of a sorted set.
local function lowest(key)
    local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    return tonumber(first[2]) or MAX_EXACT
end

local function charge_due(now)
    local due = redis.call('ZRANGEBYSCORE', DUE, '-inf', text(now))
    table.sort(due, function(a, b) return tonumber(a) < tonumber(b) end)
    for _, id in ipairs(due) do
        local hold = remove_hold(id)
        if hold then charge(now, hold.name, hold.tokens, hold.cost) end
    end
    core.nextDue = lowest(DUE)
end

local function drop_idle(start)
    store_rows()
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', IDLE, '-inf', '(' .. text(start))) do end_execution(name) end
    core.nextIdle = lowest(IDLE)
end

-- Charges the calls whose lease has ended, and drops what left the windows. Returns the latest time seen.
local function tick(now)
    now = math.max(core.clock, now)
    core.clock = now
    if core.nextDue <= now then charge_due(now) end
    drop_before(HOUR, minus(now, HOUR.length))
    drop_before(DAY, minus(now, DAY.length))
    local start = minus(now, DAY.length)
    if core.nextIdle < start then drop_idle(start) end
    return now
end

local function fits_at(window, measure, used, asked, cap)
    local parts = redis.call('LRANGE', window.key, 0, -1)
    for at, stored in ipairs(parts) do parts[at] = numbers(FOUR, stored) end
    parts[#parts + 1] = newest_of(window)
    for _, part in ipairs(parts) do
        used = minus(used, part[2 + measure])
        if used < cap and plus(used, asked) <= cap then return part[2] + window.length + 1 end
    end
    return -1
end

local function has_room_for(name)
    return row_of(name) or redis.call('HLEN', EXECUTIONS) < MAX_EXECUTIONS
end

-- Returns why a call is refused, or nothing.
local function refused(name, estimate)
    if core.holds >= MAX_IN_FLIGHT then return { 'inFlight' } end
    if not has_room_for(name) then return { 'executions' } end
    for scope = 1, 3 do
        local used, reserved = counted(scope, name)
        for measure = 1, 2 do
            local cap, asked = CAPS[scope][measure], estimate[measure]
            local sum = plus(used[measure], reserved[measure])
            -- At the cap nothing is left, even for a caller who does not know what the call will cost.
            if cap and (sum >= cap or plus(sum, asked) > cap) then
                local window = WINDOW_OF[scope]
                local retry = window and fits_at(window, measure, sum, asked, cap) or -1
                return { 'exhausted', scope, measure, sum, reserved[measure], asked, cap, retry }
            end
        end
    end
    return nil
end

-- Circuit breaker -------------------------------------------------------------------------------------------------

local function open_breaker(since)
    core.generation = core.generation + 1
    core.phase, core.since, core.failures = OPEN, since, 0
end

local function tick_breaker(now)
    now = math.max(core.breakerClock, now)
    core.breakerClock = now
    if core.phase == PROBING and now > core.since + PROBE_TIMEOUT then open_breaker(core.since + PROBE_TIMEOUT) end
    if core.phase == OPEN and now >= core.since + COOLDOWN then core.phase = HALF_OPEN end
    return now
end

-- Returns the role of a call that may be made, or when it is worth asking again.
local function admit_breaker(now)
    now = tick_breaker(now)
    if core.phase == CLOSED then return 0 end
    if core.phase == HALF_OPEN then
        core.phase, core.since = PROBING, now
        return 1
    end
    return nil, core.since + (core.phase == OPEN and COOLDOWN or PROBE_TIMEOUT)
end

local function report(now, generation, is_probe, has_failed)
    now = tick_breaker(now)
    if generation ~= core.generation then return end
    if core.phase == CLOSED and not is_probe then
        core.failures = has_failed and core.failures + 1 or 0
        if core.failures >= THRESHOLD then open_breaker(now) end
    elseif core.phase == PROBING and is_probe then
        if has_failed then open_breaker(now) else core.phase, core.failures = CLOSED, 0 end
    end
end

local function withdraw_breaker(now, generation, is_probe)
    tick_breaker(now)
    if generation == core.generation and is_probe and core.phase == PROBING then core.phase = HALF_OPEN end
end

-- Operations ------------------------------------------------------------------------------------------------------

-- Returns number, generation and role of an admitted call and the steps left, or nothing and the refusal.
local function decide(at, now, estimate)
    local row = row_of(execution)
    if MAX_STEPS and row and row.steps >= MAX_STEPS then return nil, { 'steps', MAX_STEPS } end
    if MAX_STEPS == 0 then return nil, { 'steps', 0 } end
    local refusal = refused(execution, estimate)
    if refusal then return nil, refusal end
    local id = text(core.nextHold)
    core.nextHold = core.nextHold + 1
    insert_hold(id, execution, estimate[1], estimate[2], math.min(now + LEASE, MAX_EXACT))
    row = touch(execution, math.min(now + LEASE, MAX_EXACT))
    -- The breaker is asked last: a probe that the budget refuses would keep its place for nothing.
    local role, retry = admit_breaker(at)
    if not role then
        remove_hold(id)
        return nil, { 'open', retry }
    end
    local left = -1
    if MAX_STEPS then
        row.steps = row.steps + 1
        left = MAX_STEPS - row.steps
    end
    return { id, core.generation, role, left }
end

local function answer(at, now)
    if operation == 'admit' then
        local granted, refusal = decide(at, now, { tonumber(ARGV[17]), tonumber(ARGV[18]) })
        return granted and { 'granted', unpack(granted) } or refusal
    end
    if operation == 'step' then
        local granted, refusal = decide(at, now, { 0, 0 })
        if not granted then return refusal end
        remove_hold(granted[1])
        withdraw_breaker(at, granted[2], granted[3] == 1)
        return { 'step', granted[4] }
    end
    if operation == 'check' then
        local refusal = refused(execution, { 0, 0 })
        if refusal then return refusal end
        local kept = {}
        for field, value in pairs(core) do kept[field] = value end
        local role, retry = admit_breaker(at)
        core = kept
        return role and { 'done' } or { 'open', retry }
    end
    local id, generation, is_probe = ARGV[19], tonumber(ARGV[20]), ARGV[21] == '1'
    if operation == 'withdraw' then
        remove_hold(id)
        withdraw_breaker(at, generation, is_probe)
        return { 'done' }
    end
    local tokens, cost = tonumber(ARGV[22]), tonumber(ARGV[23])
    report(at, generation, is_probe, ARGV[24] == '1')
    local over = { minus(tokens, tonumber(ARGV[17])), minus(cost, tonumber(ARGV[18])) }
    -- When the lease ended before, the estimate is charged already; only what exceeds it is new.
    local warning
    if remove_hold(id) then
        warning = charge(now, execution, tokens, cost)
    else
        warning = charge(now, execution, over[1], over[2])
    end
    return { 'settled', over[1], over[2], unpack(warning or { -1, -1, -1 }) }
end

local expected = ARGV[#ARGV]
if expected ~= '' and redis.call('GET', MARK) ~= expected then return 'emptied' end
local obstacle = load_core()
if obstacle then return obstacle end
if operation == 'end' then
    end_execution(execution)
    return 'done'
end
local at = tonumber(ARGV[3])
if not at then
    local time = redis.call('TIME')
    at = math.ceil(tonumber(time[1]) * 1000 + tonumber(time[2]) / 1000)
end
local now = tick(at)
local words = answer(at, now)
store_rows()
store_core()
for place, word in ipairs(words) do
    if type(word) == 'number' then words[place] = text(word) end
end
return table.concat(words, ' ')
