-- What the scripts of wrk and sysbench share: the clock, sleep, and draws that the lab computes again (draws.py).

local ffi, bit = require("ffi"), require("bit")
ffi.cdef [[
typedef struct { long s; long ns; } tailrace_time;
int clock_gettime(int clock, tailrace_time *into);
int nanosleep(const tailrace_time *how_long, tailrace_time *rest);
]]
local REALTIME = 0
local US_PER_S, NS_PER_US = 1000000, 1000
local read, pause = ffi.new("tailrace_time"), ffi.new("tailrace_time")

-- Wall clock in whole microseconds.
local function now_us()
  ffi.C.clock_gettime(REALTIME, read)
  return tonumber(read.s) * US_PER_S + math.floor(tonumber(read.ns) / NS_PER_US)
end

local function sleep_us(us)
  if us <= 0 then return end
  pause.s = math.floor(us / US_PER_S)
  pause.ns = (us % US_PER_S) * NS_PER_US
  ffi.C.nanosleep(pause, nil)
end

-- A draw has 30 bits; users are told apart in the lower 16 bits of what is hashed.
local MASK_30, USERS_MAX = 0x3FFFFFFF, 65536
local MULTIPLIER, MULTIPLIER_TIMES_8 = 0xC6A4A7935BD1E995ULL, 0x35253C9ADE8F4CA8ULL

-- MurmurHash64A of one number, as pgbench's hash_murmur2 has it (PostgreSQL, src/bin/pgbench/pgbench.c).
local function murmur2(value, seed)
  local result = bit.bxor(seed, MULTIPLIER_TIMES_8)
  local key = ffi.cast("uint64_t", value) * MULTIPLIER
  key = bit.bxor(key, bit.rshift(key, 47)) * MULTIPLIER
  result = bit.bxor(result, key) * MULTIPLIER
  result = bit.bxor(result, bit.rshift(result, 47)) * MULTIPLIER
  return bit.bxor(result, bit.rshift(result, 47))
end

-- A number between 0 and 1 that follows from user and number.
local function uniform(user, number, seed)
  local hashed = bit.band(murmur2(number * USERS_MAX + user, seed), 0x3FFFFFFFULL)
  return (tonumber(hashed) + 0.5) / (MASK_30 + 1)
end

-- The normal quantile: Abramowitz and Stegun, 26.2.23.
local function normal(u)
  local t = math.sqrt(-2 * math.log(math.min(u, 1 - u)))
  local over = 2.515517 + t * (0.802853 + t * 0.010328)
  local under = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308))
  local z = t - over / under
  return u > 0.5 and z or -z
end
