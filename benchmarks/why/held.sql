-- All clients change one row, and hold it while the server sleeps.
\prepare
CREATE TABLE held (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO held VALUES (1, 0);

\cleanup
DROP TABLE IF EXISTS held;

\transaction change
BEGIN;
UPDATE held SET n = n + 1 WHERE id = 1;
SELECT SLEEP(0.001);
COMMIT;
