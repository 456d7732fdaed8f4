#!/bin/sh
# First program of a guest of live_guests.py: its parameters are words of the kernel's command line.
mount -t proc proc /proc; mount -t sysfs sys /sys
for at in /tmp /run /var/log /var/lib/nginx; do mount -t tmpfs none $at; done
for word in $(cat /proc/cmdline); do
  case $word in guest_*=*) eval "${word%%=*}='${word#*=}'";; esac
done
for module in net/core/failover drivers/net/net_failover drivers/net/virtio_net; do
  insmod "/usr/lib/uml/modules/$(uname -r)/kernel/$module.ko"
done 2>/dev/null
for device in vec0 eth0; do ip link show $device >/dev/null 2>&1 && break; done
ip link set lo up
ip address add "$guest_address/24" dev $device
ip link set $device up
if [ "$guest_role" = server ]; then
  head -c 97 /dev/zero > /run/page
  cat > /run/conf <<'END'
daemon off; worker_processes 1; pid /run/pid; error_log stderr;
events { worker_connections 256; }
http { access_log off; keepalive_requests 1000000000; server { listen 80; root /run; } }
END
  nginx -e stderr -c /run/conf &
  sleep "$guest_up_s"
else
  tries=0
  while [ $tries -lt 50 ] && ! ping -q -c 1 -W 1 "$guest_peer" >/dev/null 2>&1; do tries=$((tries + 1)); done
  ping -q -c 100 -i 0.01 "$guest_peer"
  before=$(awk '/ctxt/ { print $2 }' /proc/stat)
  echo GUEST BEGINS
  wrk --threads 1 --connections 8 --duration "${guest_seconds}s" --latency "http://$guest_peer/page"
  echo "GUEST ENDS switches $(($(awk '/ctxt/ { print $2 }' /proc/stat) - before))"
fi
echo o > /proc/sysrq-trigger
sleep 5
