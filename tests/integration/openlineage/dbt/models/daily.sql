{{ config(materialized='incremental', unique_key='ordered_at') }}
select ordered_at, sum(amount) as total
from {{ ref('orders') }}
{% if is_incremental() %}
where ordered_at >= (select max(ordered_at) from {{ this }})
{% endif %}
group by ordered_at
