-- What every thread of sysbench does: it is one user, with one connection. `sysbench.py` writes the settings and draws
-- of a workload before this text: `log_prefix`, `transactions_max`, `statements` (table, rows, and for a write the length
-- of its text, in order), `can_fail` (whether the database may roll a transaction back because of another one),
-- `failures_prefix`, `attempts_max`, `start_us`, `gap_us`.

local DOZE_US = 1000000
local number, log, connection, prepared = 0, nil, nil, {}
local failed_log, ended_us

local function prepare(statement)
  local table_name, rows, length = statement[1], statement[2], statement[3]
  local one = { rows = rows, length = length }
  if length then
    one.made = connection:prepare("UPDATE " .. table_name .. " SET d = ? WHERE id = ?")
    one.text = one.made:bind_create(sysbench.sql.type.VARCHAR, length)
    one.id = one.made:bind_create(sysbench.sql.type.INT)
    one.made:bind_param(one.text, one.id)
    one.filling = string.rep(".", length)
  else
    one.made = connection:prepare("SELECT d FROM " .. table_name .. " WHERE id = ?")
    one.id = one.made:bind_create(sysbench.sql.type.INT)
    one.made:bind_param(one.id)
  end
  return one
end

function thread_init()
  local driver = sysbench.sql.driver()
  connection = driver:connect()
  for at, statement in ipairs(statements) do
    prepared[at] = prepare(statement)
  end
  log = assert(io.open(log_prefix .. "." .. sysbench.tid, "w"))
  -- SIGINT ends sysbench without a last word: each line is written at once.
  log:setvbuf("line")
  if can_fail then
    failed_log = assert(io.open(failures_prefix .. "." .. sysbench.tid, "w"))
    failed_log:setvbuf("line")
  end
end

-- The statements of a transaction; no two writes of a run have the same text.
local function statements_once(user)
  if can_fail then connection:query("BEGIN") end
  for at, one in ipairs(prepared) do
    one.id:set(sysbench.rand.uniform(1, one.rows))
    if one.text then
      one.text:set((string.format("%d.%d.%.0f", user, at, now_us()) .. one.filling):sub(1, one.length))
    end
    local result = one.made:execute()
    -- A write has no rows to free: sysbench 1.0 ends with a fault where it is asked to.
    if not one.length then result:free() end
  end
  if can_fail then connection:query("COMMIT") end
end

-- Until the database accepts them. What it rolls back because of another transaction is logged and tried again at once.
local function transaction(user)
  if not can_fail then return statements_once(user) end
  for _ = 1, attempts_max do
    local is_done, problem = pcall(statements_once, user)
    if is_done then return end
    if type(problem) ~= "table" or problem.errcode ~= sysbench.error.RESTART_EVENT then error(problem, 0) end
    failed_log:write(string.format("%d %d %d %.0f\n", user, number, problem.sql_errno, now_us()))
    connection:query("ROLLBACK")
  end
  error("a transaction was rolled back " .. attempts_max .. " times")
end

-- One transaction, with the pause before it.
function event()
  local user = sysbench.tid
  if transactions_max > 0 and number >= transactions_max then
    if log then
      log:close()
      log = nil
      io.stderr:write("done " .. user .. "\n")
    end
    sleep_us(DOZE_US)
    return
  end
  number = number + 1
  local begun_us = ended_us or now_us()
  local pause_us = number == 1 and start_us(user, number) or gap_us(user, number)
  local left_us = begun_us + pause_us - now_us()
  while left_us > 0 do
    sleep_us(left_us)
    left_us = begun_us + pause_us - now_us()
  end
  local sent_us = now_us()
  transaction(user)
  ended_us = now_us()
  log:write(string.format("%d %d %.0f %.0f %.0f %.0f\n", user, number, begun_us, pause_us, sent_us, ended_us))
end
