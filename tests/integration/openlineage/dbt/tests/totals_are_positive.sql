select * from {{ ref('customers') }} where total <= 0
