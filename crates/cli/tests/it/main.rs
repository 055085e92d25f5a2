//! Tests of the complete binary, on the embedded database and on real servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::disallowed_methods, reason = "tests start dyno and other programs as users do")]

mod command_line;
mod compare;
mod cross_check;
mod data;
mod driver_load;
mod driver_login;
mod driver_query;
mod driver_support;
mod echo;
mod edges;
mod end_to_end;
mod faults_interrupt;
mod faults_login;
mod faults_server;
mod generator;
mod go_echo;
mod go_mysql;
mod grpc;
mod hostile;
mod hostile_service;
mod hostile_tls;
mod logins;
mod logins_tidb;
mod mariadb;
mod member_exits;
mod memory;
mod open_files;
mod open_loop;
mod own_server;
mod page;
mod peers_sql;
mod phase_ends;
mod ping;
mod record_faults;
mod rpc_faults;
mod rpc_tls;
mod sandbox;
mod secrets;
mod seek;
mod server;
mod terminal;
mod tidb;
mod tidb_cluster;
mod tls;
mod tpcc;
mod tpch;
mod up;
mod validity;
mod variants;
mod watch;
mod workload_sql;
mod workload_sysbench;
mod ycsb;
