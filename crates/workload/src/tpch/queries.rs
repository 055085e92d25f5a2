//! The 22 queries (clause 2.4), in the system's dialect.
//!
//! Their text is the specification's, with these changes that hold on every system: Q13 names its columns inside of the
//! derived table, Q15 has its view as a common table expression (a variant of appendix B), and the number of rows that a
//! query may return (clause 2.1.2.9) is a LIMIT.

use super::style::{Style, Unit};

/// The text of query `number`, 1 to 22, with these parameters, at this scale.
pub(super) fn text(number: usize, parameters: &[String], style: Style<'_>, scale: f64) -> String {
    let p: Vec<&str> = parameters.iter().map(String::as_str).collect();
    match number {
        1 => pricing_summary(&p, style),
        2 => minimum_cost_supplier(&p),
        3 => shipping_priority(&p, style),
        4 => order_priority(&p, style),
        5 => local_supplier_volume(&p, style),
        6 => revenue_change(&p, style),
        7 => volume_shipping(&p, style),
        8 => market_share(&p, style),
        9 => product_profit(&p, style),
        10 => returned_items(&p, style),
        11 => important_stock(&p, scale),
        12 => shipping_modes(&p, style),
        13 => customer_distribution(&p),
        14 => promotion_effect(&p, style),
        15 => top_supplier(&p, style),
        16 => parts_suppliers(&p),
        17 => small_quantity_revenue(&p),
        18 => large_volume_customer(&p),
        19 => discounted_revenue(&p),
        20 => part_promotion(&p, style),
        21 => waiting_suppliers(&p),
        _ => sales_opportunity(&p),
    }
}

fn pricing_summary(p: &[&str], style: Style<'_>) -> String {
    let days = p[0].parse::<i32>().unwrap_or_default();
    let last = style.date_plus("1998-12-01", -days, Unit::Day);
    format!(
        "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, \
         SUM(l_extendedprice) AS sum_base_price, \
         SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, \
         SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, \
         AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, \
         AVG(l_discount) AS avg_disc, COUNT(*) AS count_order \
         FROM lineitem WHERE l_shipdate <= {last} \
         GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"
    )
}

fn minimum_cost_supplier(p: &[&str]) -> String {
    let [size, metal, region] = [p[0], p[1], p[2]];
    format!(
        "SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment \
         FROM part, supplier, partsupp, nation, region \
         WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = {size} \
         AND p_type LIKE '%{metal}' AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey \
         AND r_name = '{region}' AND ps_supplycost = \
         (SELECT MIN(ps_supplycost) FROM partsupp, supplier, nation, region \
         WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND s_nationkey = n_nationkey \
         AND n_regionkey = r_regionkey AND r_name = '{region}') \
         ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100"
    )
}

fn shipping_priority(p: &[&str], style: Style<'_>) -> String {
    let (segment, date) = (p[0], style.date(p[1]));
    format!(
        "SELECT l_orderkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, \
         o_shippriority FROM customer, orders, lineitem \
         WHERE c_mktsegment = '{segment}' AND c_custkey = o_custkey AND l_orderkey = o_orderkey \
         AND o_orderdate < {date} AND l_shipdate > {date} \
         GROUP BY l_orderkey, o_orderdate, o_shippriority \
         ORDER BY revenue DESC, o_orderdate LIMIT 10"
    )
}

fn order_priority(p: &[&str], style: Style<'_>) -> String {
    let (from, to) = (style.date(p[0]), style.date_plus(p[0], 3, Unit::Month));
    format!(
        "SELECT o_orderpriority, COUNT(*) AS order_count FROM orders \
         WHERE o_orderdate >= {from} AND o_orderdate < {to} \
         AND EXISTS (SELECT * FROM lineitem \
         WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate) \
         GROUP BY o_orderpriority ORDER BY o_orderpriority"
    )
}

fn local_supplier_volume(p: &[&str], style: Style<'_>) -> String {
    let (region, from) = (p[0], style.date(p[1]));
    let to = style.date_plus(p[1], 1, Unit::Year);
    format!(
        "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue \
         FROM customer, orders, lineitem, supplier, nation, region \
         WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey \
         AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey \
         AND n_regionkey = r_regionkey AND r_name = '{region}' \
         AND o_orderdate >= {from} AND o_orderdate < {to} \
         GROUP BY n_name ORDER BY revenue DESC"
    )
}

fn revenue_change(p: &[&str], style: Style<'_>) -> String {
    let (from, to) = (style.date(p[0]), style.date_plus(p[0], 1, Unit::Year));
    let discount = p[1].parse::<i32>().unwrap_or_default();
    let [low, high] = [-1, 1].map(|difference| style.hundredths_plus(discount, difference));
    format!(
        "SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem \
         WHERE l_shipdate >= {from} AND l_shipdate < {to} \
         AND l_discount BETWEEN {low} AND {high} AND l_quantity < {}",
        p[2]
    )
}

fn volume_shipping(p: &[&str], style: Style<'_>) -> String {
    let (one, other) = (p[0], p[1]);
    let (from, to) = (style.date("1995-01-01"), style.date("1996-12-31"));
    let year = style.year("l_shipdate");
    format!(
        "SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue FROM \
         (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, {year} AS l_year, \
         l_extendedprice * (1 - l_discount) AS volume \
         FROM supplier, lineitem, orders, customer, nation n1, nation n2 \
         WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey \
         AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey \
         AND ((n1.n_name = '{one}' AND n2.n_name = '{other}') \
         OR (n1.n_name = '{other}' AND n2.n_name = '{one}')) \
         AND l_shipdate BETWEEN {from} AND {to}) AS shipping \
         GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year"
    )
}

fn market_share(p: &[&str], style: Style<'_>) -> String {
    let [nation, region, kind] = [p[0], p[1], p[2]];
    let (from, to) = (style.date("1995-01-01"), style.date("1996-12-31"));
    let year = style.year("o_orderdate");
    format!(
        "SELECT o_year, SUM(CASE WHEN nation = '{nation}' THEN volume ELSE 0 END) / SUM(volume) \
         AS mkt_share FROM \
         (SELECT {year} AS o_year, l_extendedprice * (1 - l_discount) AS volume, \
         n2.n_name AS nation \
         FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region \
         WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey \
         AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey \
         AND n1.n_regionkey = r_regionkey AND r_name = '{region}' \
         AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN {from} AND {to} \
         AND p_type = '{kind}') AS all_nations \
         GROUP BY o_year ORDER BY o_year"
    )
}

fn product_profit(p: &[&str], style: Style<'_>) -> String {
    let (color, year) = (p[0], style.year("o_orderdate"));
    format!(
        "SELECT nation, o_year, SUM(amount) AS sum_profit FROM \
         (SELECT n_name AS nation, {year} AS o_year, \
         l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount \
         FROM part, supplier, lineitem, partsupp, orders, nation \
         WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey \
         AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey \
         AND p_name LIKE '%{color}%') AS profit \
         GROUP BY nation, o_year ORDER BY nation, o_year DESC"
    )
}

fn returned_items(p: &[&str], style: Style<'_>) -> String {
    let (from, to) = (style.date(p[0]), style.date_plus(p[0], 3, Unit::Month));
    format!(
        "SELECT c_custkey, c_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue, \
         c_acctbal, n_name, c_address, c_phone, c_comment \
         FROM customer, orders, lineitem, nation \
         WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey \
         AND o_orderdate >= {from} AND o_orderdate < {to} \
         AND l_returnflag = 'R' AND c_nationkey = n_nationkey \
         GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment \
         ORDER BY revenue DESC LIMIT 20"
    )
}

/// The fraction is 0.0001 / scale (clause 2.4.11.3).
fn important_stock(p: &[&str], scale: f64) -> String {
    let (nation, fraction) = (p[0], 0.0001 / scale);
    let from = format!(
        "FROM partsupp, supplier, nation WHERE ps_suppkey = s_suppkey \
         AND s_nationkey = n_nationkey AND n_name = '{nation}'"
    );
    format!(
        "SELECT ps_partkey, SUM(ps_supplycost * ps_availqty) AS value {from} \
         GROUP BY ps_partkey HAVING SUM(ps_supplycost * ps_availqty) > \
         (SELECT SUM(ps_supplycost * ps_availqty) * {fraction:.10} {from}) \
         ORDER BY value DESC"
    )
}

fn shipping_modes(p: &[&str], style: Style<'_>) -> String {
    let [one, other] = [p[0], p[1]];
    let (from, to) = (style.date(p[2]), style.date_plus(p[2], 1, Unit::Year));
    format!(
        "SELECT l_shipmode, \
         SUM(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' \
         THEN 1 ELSE 0 END) AS high_line_count, \
         SUM(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' \
         THEN 1 ELSE 0 END) AS low_line_count \
         FROM orders, lineitem \
         WHERE o_orderkey = l_orderkey AND l_shipmode IN ('{one}', '{other}') \
         AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate \
         AND l_receiptdate >= {from} AND l_receiptdate < {to} \
         GROUP BY l_shipmode ORDER BY l_shipmode"
    )
}

fn customer_distribution(p: &[&str]) -> String {
    let [one, other] = [p[0], p[1]];
    format!(
        "SELECT c_count, COUNT(*) AS custdist FROM \
         (SELECT c_custkey, COUNT(o_orderkey) AS c_count \
         FROM customer LEFT OUTER JOIN orders \
         ON c_custkey = o_custkey AND o_comment NOT LIKE '%{one}%{other}%' \
         GROUP BY c_custkey) AS c_orders \
         GROUP BY c_count ORDER BY custdist DESC, c_count DESC"
    )
}

fn promotion_effect(p: &[&str], style: Style<'_>) -> String {
    let (from, to) = (style.date(p[0]), style.date_plus(p[0], 1, Unit::Month));
    format!(
        "SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' \
         THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / \
         SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue \
         FROM lineitem, part WHERE l_partkey = p_partkey \
         AND l_shipdate >= {from} AND l_shipdate < {to}"
    )
}

fn top_supplier(p: &[&str], style: Style<'_>) -> String {
    let (from, to) = (style.date(p[0]), style.date_plus(p[0], 3, Unit::Month));
    format!(
        "WITH revenue AS (SELECT l_suppkey AS supplier_no, \
         SUM(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem \
         WHERE l_shipdate >= {from} AND l_shipdate < {to} GROUP BY l_suppkey) \
         SELECT s_suppkey, s_name, s_address, s_phone, total_revenue FROM supplier, revenue \
         WHERE s_suppkey = supplier_no \
         AND total_revenue = (SELECT MAX(total_revenue) FROM revenue) ORDER BY s_suppkey"
    )
}

fn parts_suppliers(p: &[&str]) -> String {
    let (brand, kind, sizes) = (p[0], p[1], p[2..].join(", "));
    format!(
        "SELECT p_brand, p_type, p_size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt \
         FROM partsupp, part WHERE p_partkey = ps_partkey AND p_brand <> '{brand}' \
         AND p_type NOT LIKE '{kind}%' AND p_size IN ({sizes}) \
         AND ps_suppkey NOT IN \
         (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%') \
         GROUP BY p_brand, p_type, p_size ORDER BY supplier_cnt DESC, p_brand, p_type, p_size"
    )
}

fn small_quantity_revenue(p: &[&str]) -> String {
    let [brand, container] = [p[0], p[1]];
    format!(
        "SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly FROM lineitem, part \
         WHERE p_partkey = l_partkey AND p_brand = '{brand}' AND p_container = '{container}' \
         AND l_quantity < (SELECT 0.2 * AVG(l_quantity) FROM lineitem \
         WHERE l_partkey = p_partkey)"
    )
}

fn large_volume_customer(p: &[&str]) -> String {
    format!(
        "SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, SUM(l_quantity) \
         FROM customer, orders, lineitem \
         WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey \
         HAVING SUM(l_quantity) > {}) \
         AND c_custkey = o_custkey AND o_orderkey = l_orderkey \
         GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice \
         ORDER BY o_totalprice DESC, o_orderdate LIMIT 100",
        p[0]
    )
}

fn discounted_revenue(p: &[&str]) -> String {
    let branch = |place: usize, containers: &str, size: u32| {
        let (quantity, brand) = (p[place], p[place + 3]);
        format!(
            "(p_partkey = l_partkey AND p_brand = '{brand}' AND p_container IN ({containers}) \
             AND l_quantity >= {quantity} AND l_quantity <= {quantity} + 10 \
             AND p_size BETWEEN 1 AND {size} AND l_shipmode IN ('AIR', 'AIR REG') \
             AND l_shipinstruct = 'DELIVER IN PERSON')"
        )
    };
    let branches = [
        branch(0, "'SM CASE', 'SM BOX', 'SM PACK', 'SM PKG'", 5),
        branch(1, "'MED BAG', 'MED BOX', 'MED PKG', 'MED PACK'", 10),
        branch(2, "'LG CASE', 'LG BOX', 'LG PACK', 'LG PKG'", 15),
    ];
    format!(
        "SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue FROM lineitem, part WHERE {}",
        branches.join(" OR ")
    )
}

fn part_promotion(p: &[&str], style: Style<'_>) -> String {
    let (color, nation) = (p[0], p[2]);
    let (from, to) = (style.date(p[1]), style.date_plus(p[1], 1, Unit::Year));
    format!(
        "SELECT s_name, s_address FROM supplier, nation \
         WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp \
         WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE '{color}%') \
         AND ps_availqty > (SELECT 0.5 * SUM(l_quantity) FROM lineitem \
         WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey \
         AND l_shipdate >= {from} AND l_shipdate < {to})) \
         AND s_nationkey = n_nationkey AND n_name = '{nation}' ORDER BY s_name"
    )
}

fn waiting_suppliers(p: &[&str]) -> String {
    format!(
        "SELECT s_name, COUNT(*) AS numwait FROM supplier, lineitem l1, orders, nation \
         WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' \
         AND l1.l_receiptdate > l1.l_commitdate \
         AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey \
         AND l2.l_suppkey <> l1.l_suppkey) \
         AND NOT EXISTS (SELECT * FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey \
         AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate) \
         AND s_nationkey = n_nationkey AND n_name = '{}' \
         GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100",
        p[0]
    )
}

fn sales_opportunity(p: &[&str]) -> String {
    let codes: Vec<String> = p.iter().map(|code| format!("'{code}'")).collect();
    let codes = codes.join(", ");
    format!(
        "SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal FROM \
         (SELECT SUBSTR(c_phone, 1, 2) AS cntrycode, c_acctbal FROM customer \
         WHERE SUBSTR(c_phone, 1, 2) IN ({codes}) \
         AND c_acctbal > (SELECT AVG(c_acctbal) FROM customer WHERE c_acctbal > 0.00 \
         AND SUBSTR(c_phone, 1, 2) IN ({codes})) \
         AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS custsale \
         GROUP BY cntrycode ORDER BY cntrycode"
    )
}
