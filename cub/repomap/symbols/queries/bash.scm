(function_definition name: (word) @name @until) @function
