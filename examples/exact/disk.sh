# Read by the scripts of the targets.
# A disk of 1 GiB that answers after 100 us and keeps nothing.
mount -t configfs none /sys/kernel/config
disk=/sys/kernel/config/nullb/nullb1
mkdir $disk
echo 1024 > $disk/size
echo 2 > $disk/irqmode
echo 100000 > $disk/completion_nsec
echo 1 > $disk/power
