CREATE TABLE shop.orders (
  id BIGINT NOT NULL,
  customer INT,
  amount DECIMAL(8,2),
  state STRING,
  day DATE
) PARTITIONED BY (day)
