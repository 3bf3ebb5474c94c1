// One constraint less
DROP CONSTRAINT $name IF EXISTS
