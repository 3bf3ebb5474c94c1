select sku, price from {{ source('warehouse', 'prices') }}
