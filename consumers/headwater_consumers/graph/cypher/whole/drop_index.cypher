// One index less
DROP INDEX $name IF EXISTS
