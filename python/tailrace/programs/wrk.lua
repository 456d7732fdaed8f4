-- What every thread of wrk does: it is one user, with one connection. `wrk.py` writes the settings and draws of a
-- workload before this text: `log_prefix`, `request_text`, `requests_max`, `start_us`, `gap_us`.
--
-- wrk asks `delay` when a user may go on: when it has connected, and when a response is complete. It asks `request`
-- when that delay is over. A delay is in whole milliseconds; the rest of a pause is slept in `request`, which holds up
-- nothing else because the thread has no other connection.

local US_PER_MS, FOREVER_MS = 1000, 1000000000
local number, begun_us, pause_us, intended_us, sent_us, is_running = 0, 0, 0, 0, 0, false
local log

-- In wrk's own state, once for each thread.
local users_made = 0
function setup(thread)
  thread:set("user", users_made)
  users_made = users_made + 1
end

-- In the state of a thread.
function init(_)
  log = assert(io.open(log_prefix .. "." .. user, "w"))
  log:setvbuf("full", 65536)
end

function delay()
  local now = now_us()
  if is_running then
    is_running = false
    log:write(string.format("%d %d %.0f %.0f %.0f %.0f\n", user, number, begun_us, pause_us, sent_us, now))
  end
  if requests_max > 0 and number >= requests_max then
    log:close()
    io.stderr:write("done " .. user .. "\n")
    wrk.thread:stop()
    return FOREVER_MS
  end
  number = number + 1
  begun_us = now
  pause_us = number == 1 and start_us(user, number) or gap_us(user, number)
  intended_us = begun_us + pause_us
  return math.max(0, math.floor(pause_us / US_PER_MS) - 1)
end

function request()
  -- wrk asks once before it starts, to see what a request looks like.
  if number == 0 then return request_text end
  -- A request whose response did not come: the connection was closed under it.
  if is_running then io.stderr:write("lost " .. user .. " " .. number .. "\n") end
  local left_us = intended_us - now_us()
  while left_us > 0 do
    sleep_us(left_us)
    left_us = intended_us - now_us()
  end
  is_running = true
  sent_us = now_us()
  return request_text
end

-- In wrk's own state, at the end.
function done(summary, _, _)
  local errors = summary.errors
  io.stderr:write(string.format("total requests %.0f bytes %.0f connect %d read %d write %d status %d timeout %d\n",
    summary.requests, summary.bytes, errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
