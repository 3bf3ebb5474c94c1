"""Catalog tables of any technology: names, DDL, and the commands of all V2 tables."""
