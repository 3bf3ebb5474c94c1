select id as order_id, customer_id, amount, "at" as ordered_at
from {{ ref('raw_orders') }}
where amount > 0
