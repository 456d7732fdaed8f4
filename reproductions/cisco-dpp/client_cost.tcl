# A client that reads rows as HammerDB's script for PostgreSQL does (src/postgresql/pgoltp.tcl).
#
#   tclsh8.6 client_cost.tcl WAY STATEMENT CALLS
#
# exec    what the timed driver does with the result of a procedure: it looks at the status and clears
# list    what the test driver does: it also prints all fields as a list
# select  how the script reads rows of a table: an array for each row
#
# libpq takes the server from the environment (PGHOST and so on).

package require Pgtcl

proc require {result} {
    if {[pg_result $result -status] ne "PGRES_TUPLES_OK"} {
        error [pg_result $result -error]
    }
}

proc read_exec {database statement sink} {
    set result [pg_exec $database $statement]
    require $result
    pg_result $result -clear
}

proc read_list {database statement sink} {
    set result [pg_exec $database $statement]
    require $result
    puts $sink "Order Status: [pg_result $result -list]"
    pg_result $result -clear
}

proc read_select {database statement sink} {
    pg_select $database $statement row {
        set seen $row(t)
    }
}

lassign $argv way statement calls
if {$way ni {exec list select}} {
    error "the way $way is unknown (known are exec, list, select)"
}
set database [pg_connect -conninfo ""]
set sink [open /dev/null w]
for {set call 0} {$call < $calls} {incr call} {
    read_$way $database $statement $sink
}
