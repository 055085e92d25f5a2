-- A small bank: accounts, payments between them, and queries of a balance. docs/sql-workloads.md explains every
-- command. The SQL works on SQLite and MariaDB.

-- Constants of the whole file. A plan can set other values: variables = { accounts = 5000 }
\set accounts 10000

-- Runs once, before the load: makes and fills the tables.
\prepare
CREATE TABLE digit (d INTEGER NOT NULL);
INSERT INTO digit VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
CREATE TABLE account (id INTEGER NOT NULL PRIMARY KEY, balance BIGINT NOT NULL);
CREATE TABLE payment (payer INTEGER NOT NULL, payee INTEGER NOT NULL, amount BIGINT NOT NULL);
-- Four digits make the numbers 1 to 10,000 (and no more).
INSERT INTO account
    SELECT 1 + ones.d + 10 * tens.d + 100 * hundreds.d + 1000 * thousands.d, 1000
    FROM digit AS ones, digit AS tens, digit AS hundreds, digit AS thousands
    WHERE 1 + ones.d + 10 * tens.d + 100 * hundreds.d + 1000 * thousands.d <= :accounts;
DROP TABLE digit;

-- Each of these must be true before a trial: every account exists, and the sum of all balances is unchanged.
\verify
SELECT COUNT(*) = :accounts FROM account;
SELECT SUM(balance) = 1000 * :accounts FROM account;

-- Three of four transactions pay. Few payers make most of the payments, as in reality.
\transaction pay 3
\set payer random_zipfian(1, :accounts, 0.8)
\set payee random(1, :accounts)
\set amount random(1, 100)
BEGIN;
UPDATE account SET balance = balance - :amount WHERE id = :payer;
UPDATE account SET balance = balance + :amount WHERE id = :payee;
INSERT INTO payment VALUES (:payer, :payee, :amount);
COMMIT;

-- The fourth reads a balance.
\transaction look 1
\set id random(1, :accounts)
SELECT balance FROM account WHERE id = :id;

-- Runs at the end, with --cleanup or cleanup = true.
\cleanup
DROP TABLE payment;
DROP TABLE account;
