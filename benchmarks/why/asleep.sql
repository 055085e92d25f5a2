-- The server sleeps for two milliseconds, and holds nothing meanwhile.
SELECT SLEEP(0.002);
