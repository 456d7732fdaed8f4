#!/bin/sh -e
# The NVMe host of the kernel over TCP, and fio with four requests at a time on its disk.

name=nqn.2026-01.lab:disk
echo "transport=tcp,traddr=10.77.0.2,trsvcid=4420,nqn=$name,hostnqn=nqn.2026-01.lab:client" > /dev/nvme-fabrics
until [ -b /dev/nvme0n1 ]; do sleep 0.01; done
# fio reads the processor's own clock unless it is told not to: in virtual time that clock means nothing.
fio --name=read --filename=/dev/nvme0n1 --direct=1 --rw=randread --bs=8k --ioengine=libaio --iodepth=4 --number_ios=1000 \
    --clocksource=clock_gettime --randseed=1 --thread --output-format=json --output=/run/tailrace/out/fio.json
