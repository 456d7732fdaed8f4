#!/bin/sh -e
# nginx with one file of 100 kB. Everything that it writes is below /run, where a guest has memory.

mkdir -p /run/www
head -c 100000 /dev/zero > /run/www/file
cat > /run/nginx.conf <<'END'
daemon off;
master_process off;
pid /run/nginx.pid;
error_log stderr;
events { worker_connections 512; }
http {
    access_log off;
    root /run/www;
    sendfile on;
    keepalive_requests 1000000;
    client_body_temp_path /run/nginx-body;
    proxy_temp_path /run/nginx-proxy;
    fastcgi_temp_path /run/nginx-fastcgi;
    uwsgi_temp_path /run/nginx-uwsgi;
    scgi_temp_path /run/nginx-scgi;
    server { listen 10.77.0.2:80; }
}
END
exec nginx -c /run/nginx.conf
