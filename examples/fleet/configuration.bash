# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 the etwas authors
#
# The configuration files of a cluster of cluster.sh, which sources this. All of them are in
# $folder. NAME is a server (s1r2: shard 1, replica 2):
#
#     NAME/config.xml, NAME/users.xml     the server's configuration
#     NAME/data                           its tables; may be a file system mounted before the start
#     zookeeper/zoo.cfg
#     tls/ca.pem, tls/server.pem, .key    with --tls
#     credentials, client.xml             user and password, for `etwas ship` and clickhouse-client

# The memory limit of a query: four servers, ZooKeeper and the programs under test share a small
# machine.
query_memory=1000000000

write_secrets() {
    password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    printf 'user=%s\npassword=%s\n' "$user" "$password" >"$folder/credentials"
    printf '<config><user>%s</user><password>%s</password></config>\n' "$user" "$password" >"$folder/client.xml"
}

read_secrets() { password=$(sed -n 's/^password=//p' "$folder/credentials"); }

# Writes a certificate for 127.0.0.1, and that of the authority that signed it.
write_certificates() {
    mkdir -p "$folder/tls"
    (
        cd "$folder/tls"
        openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj '/CN=etwas fleet' -keyout ca.key -out ca.pem
        openssl req -newkey rsa:2048 -nodes -subj '/CN=127.0.0.1' -keyout server.key -out server.csr
        printf 'subjectAltName=IP:127.0.0.1\n' >server.ext
        openssl x509 -req -days 30 -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile server.ext \
            -out server.pem
    ) >"$folder/tls/openssl.out" 2>&1 || fail "openssl cannot make certificates: $folder/tls/openssl.out"
}

write_zookeeper() {
    mkdir -p "$folder/zookeeper/data"
    cat >"$folder/zookeeper/zoo.cfg" <<END
tickTime=2000
dataDir=$folder/zookeeper/data
clientPort=$zookeeper_port
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=ruok,srvr
END
}

write_users() {
    cat >"$1" <<END
<yandex>
    <profiles>
        <default>
            <max_memory_usage>$query_memory</max_memory_usage>
            <max_threads>2</max_threads>
            <background_pool_size>4</background_pool_size>
            <background_schedule_pool_size>4</background_schedule_pool_size>
        </default>
    </profiles>
    <users>
        <$user>
            <password_sha256_hex>$(printf %s "$password" | sha256sum | cut -d ' ' -f 1)</password_sha256_hex>
            <networks><ip>127.0.0.1</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
        </$user>
    </users>
    <quotas>
        <default>
            <interval>
                <duration>3600</duration>
                <queries>0</queries>
                <errors>0</errors>
                <result_rows>0</result_rows>
                <read_rows>0</read_rows>
                <execution_time>0</execution_time>
            </interval>
        </default>
    </quotas>
</yandex>
END
}

# Prints what only servers of a cluster need: the other servers, and ZooKeeper. A server that was
# killed during an insert finds a part that ZooKeeper does not know, and sets it aside. If that is
# more than half of a table, as it may be while the table is young, the server does not start unless
# the ratio below allows it.
cluster_elements() {
    local shard replica name
    echo "    <remote_servers><$cluster>"
    for ((shard = 1; shard <= shards; shard++)); do
        echo "        <shard><internal_replication>true</internal_replication>"
        for ((replica = 1; replica <= replicas; replica++)); do
            name=s${shard}r$replica
            echo "            <replica><host>127.0.0.1</host><port>${tcp_port[$name]}</port>" \
                "<user>$user</user><password>$password</password></replica>"
        done
        echo "        </shard>"
    done
    echo "    </$cluster></remote_servers>"
    echo "    <zookeeper>"
    echo "        <node><host>127.0.0.1</host><port>$zookeeper_port</port></node>"
    echo "        <session_timeout_ms>10000</session_timeout_ms>"
    echo "    </zookeeper>"
    echo "    <macros><shard>${1:1:1}</shard><replica>$1</replica></macros>"
    echo "    <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>"
    echo "    <merge_tree><replicated_max_ratio_of_wrong_parts>1</replicated_max_ratio_of_wrong_parts></merge_tree>"
}

tls_elements() {
    cat <<END
    <https_port>${https_port[$1]}</https_port>
    <openSSL><server>
        <certificateFile>$folder/tls/server.pem</certificateFile>
        <privateKeyFile>$folder/tls/server.key</privateKeyFile>
        <verificationMode>none</verificationMode>
    </server></openSSL>
END
}

write_server() {
    local name=$1 place=$folder/$1
    mkdir -p "$place/data"
    write_users "$place/users.xml"
    {
        cat <<END
<yandex>
    <logger>
        <level>warning</level>
        <log>$place/server.log</log>
        <errorlog>$place/error.log</errorlog>
        <size>10M</size>
        <count>2</count>
    </logger>
    <http_port>${http_port[$name]}</http_port>
    <tcp_port>${tcp_port[$name]}</tcp_port>
    <interserver_http_port>${interserver_port[$name]}</interserver_http_port>
    <interserver_http_host>127.0.0.1</interserver_http_host>
    <listen_host>127.0.0.1</listen_host>
    <path>$place/data/</path>
    <tmp_path>$place/data/tmp/</tmp_path>
    <user_files_path>$place/data/user_files/</user_files_path>
    <format_schema_path>$place/data/format_schemas/</format_schema_path>
    <users_config>$place/users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <timezone>UTC</timezone>
    <mark_cache_size>67108864</mark_cache_size>
    <uncompressed_cache_size>0</uncompressed_cache_size>
    <max_connections>256</max_connections>
    <max_concurrent_queries>64</max_concurrent_queries>
    <keep_alive_timeout>10</keep_alive_timeout>
END
        [[ $zookeeper == no ]] || cluster_elements "$name"
        [[ $tls == no ]] || tls_elements "$name"
        echo "</yandex>"
    } >"$place/config.xml"
}
