-- One client at a time sleeps in the server: a timer under a lock.
SELECT GET_LOCK('dyno', 10);
SELECT SLEEP(0.002);
SELECT RELEASE_LOCK('dyno');
