CREATE TABLE shop.orders (
  id BIGINT NOT NULL,
  customer BIGINT,
  amount DECIMAL(10,2),
  channel STRING NOT NULL,
  day DATE
) PARTITIONED BY (day)
