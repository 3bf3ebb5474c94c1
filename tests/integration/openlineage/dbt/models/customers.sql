{{ config(materialized='table') }}
select c.id as customer_id, c.name, sum(o.amount) as total, count(*) as orders
from {{ ref('raw_customers') }} as c
join {{ ref('orders') }} as o on o.customer_id = c.id
group by c.id, c.name
