-- Reads a row by its primary key, and does extra work of fixed length for each statement: it computes a checksum of
-- the row @handicap times. A session sets @handicap when it connects.
\set articles 10000

\prepare
CREATE TABLE article (id INTEGER NOT NULL PRIMARY KEY, note VARCHAR(100) NOT NULL);
INSERT INTO article
  -- From each number its double and the next one: few rounds, whose number servers limit.
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL
    SELECT 2 * i + bit FROM n, (SELECT 0 AS bit UNION ALL SELECT 1) AS bits WHERE 2 * i + bit <= :articles)
  SELECT i, REPEAT('x', 100) FROM n;

\verify
SELECT COUNT(*) = :articles FROM article;

\cleanup
DROP TABLE IF EXISTS article;

\transaction look
\set id random(1, :articles)
SELECT note, BENCHMARK(@handicap, CRC32(note)) FROM article WHERE id = :id;
