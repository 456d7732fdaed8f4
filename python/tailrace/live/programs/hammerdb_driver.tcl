# What every virtual user of HammerDB does: it connects, waits for the word to begin, and then does its transactions.
#
# `hammerdb.py` writes the settings of a workload before this text: the variables of the namespace, and the draws
# `start_us` and `gap_us`. HammerDB gives the whole to each virtual user, an interpreter in a thread of its own; what
# the users share is in variables of the Thread package (`tsv`). Files in `control` are how the lab and the users talk.

namespace eval ::tailrace {
    # Modulo 2**64, as murmur2 counts.
    variable MASK_64 0xFFFFFFFFFFFFFFFF
    # A draw has 30 bits; users are told apart in the lower 16 bits of what is hashed (draws.py).
    variable MASK_30 0x3FFFFFFF
    variable USERS_MAX 65536
    # How often a user looks for the word to begin.
    variable POLL_MS 5
    # A long pause is left this often to see whether the trial is over.
    variable SLICE_US 100000
    variable US_PER_S 1000000
}

# Part 1: draws.

# MurmurHash64A of one number, as pgbench's hash_murmur2 has it (PostgreSQL, src/bin/pgbench/pgbench.c).
proc ::tailrace::murmur2 {value seed} {
    variable MASK_64
    set multiplier 0xC6A4A7935BD1E995
    set result [expr {$seed ^ 0x35253C9ADE8F4CA8}]
    set key [expr {$value * $multiplier & $MASK_64}]
    set key [expr {($key ^ ($key >> 47)) * $multiplier & $MASK_64}]
    set result [expr {($result ^ $key) * $multiplier & $MASK_64}]
    set result [expr {($result ^ ($result >> 47)) * $multiplier & $MASK_64}]
    return [expr {$result ^ ($result >> 47)}]
}

# A number between 0 and 1 that follows from user and transaction.
proc ::tailrace::uniform {user number seed} {
    variable MASK_30
    variable USERS_MAX
    set hashed [murmur2 [expr {$number * $USERS_MAX + $user}] $seed]
    return [expr {(($hashed & $MASK_30) + 0.5) / ($MASK_30 + 1)}]
}

# The normal quantile: Abramowitz and Stegun, 26.2.23.
proc ::tailrace::normal {u} {
    set t [expr {sqrt(-2 * log(min($u, 1 - $u)))}]
    set over [expr {2.515517 + $t * (0.802853 + $t * 0.010328)}]
    set under [expr {1 + $t * (1.432788 + $t * (0.189269 + $t * 0.001308))}]
    set z [expr {$t - $over / $under}]
    return [expr {$u > 0.5 ? $z : -$z}]
}

# Part 2: words between the lab and the users.

proc ::tailrace::tell {name} {
    variable control
    close [open [file join $control $name] w]
}

proc ::tailrace::is_told {name} {
    variable control
    return [file exists [file join $control $name]]
}

# Waits for the word to begin; returns its moment, 0 when the trial is over before.
proc ::tailrace::begin_us {} {
    variable control
    variable POLL_MS
    variable begin_limit_s
    variable US_PER_S
    set limit_us [expr {[clock microseconds] + $begin_limit_s * $US_PER_S}]
    while {![is_told begin]} {
        if {[is_told stop]} { return 0 }
        if {[clock microseconds] > $limit_us} { error "the trial did not begin within $begin_limit_s s" }
        after $POLL_MS
    }
    set file [open [file join $control begin]]
    set moment [gets $file]
    close $file
    return $moment
}

# Waits until a moment; returns whether the trial is over. Tcl sleeps whole milliseconds: the rest is spent looking at
# the clock.
proc ::tailrace::wait_until {moment_us} {
    variable SLICE_US
    while {[set left_us [expr {$moment_us - [clock microseconds]}]] > 0} {
        if {$left_us > $SLICE_US && [is_told stop]} { return 1 }
        set slice_us [expr {min($left_us, $SLICE_US)}]
        if {$slice_us >= 1000} { after [expr {$slice_us / 1000}] }
    }
    return [is_told stop]
}

# Part 3: the database.

proc ::tailrace::require {result wanted} {
    set status [pg_result $result -status]
    set message [pg_result $result -error]
    pg_result $result -clear
    if {$status ne $wanted} { error "$status $message" }
}

proc ::tailrace::connect {} {
    variable conninfo
    variable prepares
    set database [pg_connect -conninfo $conninfo]
    foreach statement $prepares { require [pg_exec $database $statement] PGRES_COMMAND_OK }
    return $database
}

# One transaction: every statement in order, for a row of the table by chance.
proc ::tailrace::transaction {database} {
    variable statements
    foreach {statement rows} $statements {
        set id [expr {1 + int(rand() * $rows)}]
        require [pg_exec_prepared $database $statement {} {} $id] PGRES_TUPLES_OK
    }
}

# Part 4: a user.

# All transactions; each is a line of the user's log, the words of pgbench's and two more: the pause that was drawn, and
# how late the first statement was sent.
proc ::tailrace::transactions {database user begin_us log} {
    variable transactions
    variable US_PER_S
    set ended_us $begin_us
    for {set number 1} {$transactions == 0 || $number <= $transactions} {incr number} {
        set pause_us [expr {$number == 1 ? [start_us $user $number] : [gap_us $user $number]}]
        set begun_us $ended_us
        set intended_us [expr {$begun_us + $pause_us}]
        if {[wait_until $intended_us]} { break }
        set late_us [expr {[clock microseconds] - $intended_us}]
        transaction $database
        set ended_us [clock microseconds]
        set took_us [expr {$ended_us - $begun_us}]
        set seconds [expr {$ended_us / $US_PER_S}]
        puts $log "$user $number $took_us 0 $seconds [expr {$ended_us % $US_PER_S}] $pause_us $late_us"
    }
}

proc ::tailrace::work {user} {
    variable users
    variable seed
    variable log_prefix
    package require Pgtcl
    expr {srand($seed + $user)}
    set database [connect]
    if {[tsv::incr tailrace ready] == $users} { tell ready }
    set begin_us [begin_us]
    if {$begin_us > 0} {
        set log [open $log_prefix.$user w]
        transactions $database $user $begin_us $log
        close $log
    }
    # The connection ends with the program: pg_disconnect closes a socket twice (Pgtcl, pgtclId.c, PgDelConnectionId), and
    # the second time it may be another user's new file.
}

# A user's whole life; one that fails ends the trial for all.
proc ::tailrace::live {} {
    variable users
    set user [expr {[tsv::incr tailrace users] - 1}]
    # HammerDB may have made a virtual user more than it was told, to watch the others.
    if {$user >= $users} { return }
    if {[catch {work $user} message]} {
        tsv::lappend tailrace errors "user $user: $message"
        tell stop
        error $message
    }
    if {[tsv::incr tailrace ended] == $users} { tell done }
}

::tailrace::live
