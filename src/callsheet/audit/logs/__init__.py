"""Reading the logs that agents keep, a module for each format; what they hold comes out in providers' shapes."""
