-- What every thread of sysbench does: it is one user, with one connection. `sysbench.py` writes the settings and draws
-- of a workload before this text: `log_prefix`, `transactions_max`, `statements` (table and rows, in order), `start_us`,
-- `gap_us`.

local DOZE_US = 1000000
local number, log, connection, prepared = 0, nil, nil, {}
local ended_us

function thread_init()
  local driver = sysbench.sql.driver()
  connection = driver:connect()
  for at, statement in ipairs(statements) do
    local made = connection:prepare("SELECT d FROM " .. statement[1] .. " WHERE id = ?")
    local id = made:bind_create(sysbench.sql.type.INT)
    made:bind_param(id)
    prepared[at] = { made = made, id = id, rows = statement[2] }
  end
  log = assert(io.open(log_prefix .. "." .. sysbench.tid, "w"))
  -- SIGINT ends sysbench without a last word: each line is written at once.
  log:setvbuf("line")
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
  for _, one in ipairs(prepared) do
    one.id:set(sysbench.rand.uniform(1, one.rows))
    local result = one.made:execute()
    result:free()
  end
  ended_us = now_us()
  log:write(string.format("%d %d %.0f %.0f %.0f %.0f\n", user, number, begun_us, pause_us, sent_us, ended_us))
end
