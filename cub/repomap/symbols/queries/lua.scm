(function_declaration name: (identifier) @name parameters: (parameters) @until) @function
(function_declaration
  name: (dot_index_expression table: (_) @of field: (identifier) @name)
  parameters: (parameters) @until) @method
(function_declaration
  name: (method_index_expression table: (_) @of method: (identifier) @name)
  parameters: (parameters) @until) @method

; a.b = function(…)
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @of field: (identifier) @name) .)
  (expression_list . value: (function_definition parameters: (parameters) @until))) @method
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition parameters: (parameters) @until)))) @function
(chunk (assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition parameters: (parameters) @until))) @function)

(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name @until .)
  (expression_list . value: [(table_constructor) (binary_expression)]))) @variable)
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name @until .)
  (expression_list . value: (function_call name: (_) @_called)))
  (#not-eq? @_called "require")) @variable)
(chunk (assignment_statement
  (variable_list . name: (identifier) @name @until .)
  (expression_list . value: [
    (table_constructor) (function_call) (string) (number) (true) (false)
  ])) @variable)

; a.b = c(…).d
(chunk (assignment_statement
  (variable_list . name: (dot_index_expression table: (identifier) @of field: (identifier) @name @until) .)
  (expression_list . value: [(dot_index_expression) (function_call)] .)) @variable)

; a.b = c
(chunk (assignment_statement
  (variable_list . (dot_index_expression) .)
  (expression_list . (identifier) @reveal .)))
(chunk (return_statement (expression_list (identifier) @reveal)))
(chunk (return_statement (expression_list (table_constructor
  (field value: (identifier) @reveal)))))
(chunk (return_statement (expression_list (function_call
  arguments: (arguments (identifier) @reveal)))))
